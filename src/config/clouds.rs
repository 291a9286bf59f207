//! Clouds that are asked.

use super::section::section;

section! {
    /// Google Cloud, under the names of its own tools.
    Gcp {
        project = "GOOGLE_CLOUD_PROJECT",
        quota_project = "GOOGLE_CLOUD_QUOTA_PROJECT",
        credentials = "GOOGLE_APPLICATION_CREDENTIALS",
        impersonate = "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
        access_token_file = "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
        logging_url = "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING",
        compute_url = "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE",
    }
}

section! {
    /// AWS, under the names of its own tools.
    Aws {
        profile = "AWS_PROFILE",
        region = "AWS_REGION",
        endpoint_url = "AWS_ENDPOINT_URL",
    }
}

section! {
    /// Azure, under the names of its own tools.
    Azure {
        subscription = "AZURE_SUBSCRIPTION_ID",
        tenant_id = "AZURE_TENANT_ID",
        client_id = "AZURE_CLIENT_ID",
        client_secret = "AZURE_CLIENT_SECRET",
        federated_token_file = "AZURE_FEDERATED_TOKEN_FILE",
        credentials = "AZURE_TOKEN_CREDENTIALS",
        environment = "AZURE_ENVIRONMENT",
        authority_host = "AZURE_AUTHORITY_HOST",
        resource_manager_url = "AZURE_RESOURCE_MANAGER_URL",
        scheduled_events = "AZURE_SCHEDULED_EVENTS",
    }
}
