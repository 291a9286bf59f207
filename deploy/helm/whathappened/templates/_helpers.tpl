{{- define "whathappened.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- /* Release and chart, or one of them where they are called the same. */ -}}
{{- define "whathappened.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "whathappened.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "whathappened.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "whathappened.selectorLabels" -}}
app.kubernetes.io/name: {{ include "whathappened.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "whathappened.labels" -}}
{{ include "whathappened.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "whathappened.ballistaSelector" -}}
app.kubernetes.io/name: {{ printf "%s-ballista" (include "whathappened.name" . | trunc 54 | trimSuffix "-") }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "whathappened.ballistaLabels" -}}
{{ include "whathappened.ballistaSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "whathappened.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "whathappened.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "whathappened.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* What belongs to the whole cluster must not meet that of another namespace's release. */ -}}
{{- define "whathappened.rbacName" -}}
{{- if .Values.rbac.clusterWide -}}
{{- printf "%s:%s" .Release.Namespace (include "whathappened.fullname" .) -}}
{{- else -}}
{{- include "whathappened.fullname" . -}}
{{- end -}}
{{- end -}}
