//! The contract of the JSON forms: `docs/*.schema.json`, made of the types themselves.
//!
//! What a type cannot say for itself stands here: that fields are added at any time, and which of
//! them may be missing.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AdditionalProperties, Object, ObjectBuilder, Schema, SchemaType, Type,
};

use super::{Answer, FleetReport, NODE_SCHEMA, NodeHistory, REPORT_SCHEMA, SCHEMA};

/// Fields that are left out where there is nothing to say. All others are always there: null says that
/// something is not known.
const LEFT_OUT: [(&str, &str); 6] = [
    ("Answer", "machine"),
    ("Answer", "page"),
    ("FleetReport", "site"),
    ("Incident", "id"),
    ("Incident", "page"),
    ("Incident", "until"),
];

/// A type's schema and those of the types in it, by their names.
pub type NamedSchemas = BTreeMap<String, RefOr<Schema>>;

/// The schemas of all that is answered in JSON under a contract.
#[must_use]
pub fn schemas() -> NamedSchemas {
    let mut all = of_type::<Answer>();
    all.extend(of_type::<NodeHistory>());
    all.extend(of_type::<FleetReport>());
    all
}

fn of_type<T: ToSchema>() -> NamedSchemas {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    parts.push((T::name().into_owned(), T::schema()));
    let complete = |(name, mut schema): (String, RefOr<Schema>)| {
        complete(&name, &mut schema);
        (name, schema)
    };
    parts.into_iter().map(complete).collect()
}

/// Adds what holds for all objects.
fn complete(name: &str, schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else {
        return;
    };
    if object.properties.is_empty() {
        return;
    }
    let is_left_out = |field: &str| LEFT_OUT.contains(&(name, field));
    let fields = object.properties.keys();
    object.required = fields
        .filter(|field| !is_left_out(field))
        .cloned()
        .collect();
    object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(true)));
    object.properties.values_mut().for_each(lift_description);
    let left_out = |(field, _): &(&String, &mut RefOr<Schema>)| is_left_out(field);
    let left_out = object.properties.iter_mut().filter(left_out);
    left_out.for_each(|(_, schema)| never_null(schema));
}

/// What is left out where there is nothing to say is not null where it is there.
fn never_null(field: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::Object(object)) = field
        && let SchemaType::Array(types) = &mut object.schema_type
    {
        types.retain(|one| *one != Type::Null);
        if let [one] = types.as_slice() {
            object.schema_type = SchemaType::Type(one.clone());
        }
    }
}

/// What is said of a field that may be null stands at the field, not at one of its alternatives.
fn lift_description(field: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::OneOf(either)) = field
        && let Some(description) = either.items.iter_mut().find_map(|item| match item {
            RefOr::Ref(reference) if !reference.description.is_empty() => {
                Some(std::mem::take(&mut reference.description))
            }
            _ => None,
        })
    {
        either.description = Some(description);
    }
}

/// A JSON Schema on its own.
#[derive(Serialize)]
struct Document {
    #[serde(rename = "$schema")]
    dialect: &'static str,
    #[serde(rename = "$id")]
    id: String,
    title: &'static str,
    #[serde(flatten)]
    root: RefOr<Schema>,
    #[serde(rename = "$defs")]
    parts: NamedSchemas,
}

/// The files in `docs` and their texts.
///
/// # Errors
/// When a schema cannot be written, which none of ours does.
pub fn files() -> Result<[(&'static str, String); 3], serde_json::Error> {
    Ok([
        ("answer.schema.json", file::<Answer>("answer", SCHEMA)?),
        (
            "node.schema.json",
            file::<NodeHistory>("node", NODE_SCHEMA)?,
        ),
        (
            "report.schema.json",
            file::<FleetReport>("report", REPORT_SCHEMA)?,
        ),
    ])
}

fn file<T: ToSchema>(of: &str, title: &'static str) -> Result<String, serde_json::Error> {
    let mut parts = of_type::<T>();
    let root = parts.remove(&*T::name()).unwrap_or_else(T::schema);
    let document = Document {
        dialect: "https://json-schema.org/draft/2020-12/schema",
        id: format!("https://whathappened.invalid/{of}.schema.json"),
        title,
        root,
        parts,
    };
    let text = serde_json::to_string_pretty(&document)?;
    Ok(text.replace("\"#/components/schemas/", "\"#/$defs/") + "\n")
}

fn name(of: &'static str) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("The name of this shape."))
        .enum_values(Some([of]))
        .build()
}

pub(super) fn answer_name() -> Object {
    name(SCHEMA)
}

pub(super) fn node_name() -> Object {
    name(NODE_SCHEMA)
}

pub(super) fn report_name() -> Object {
    name(REPORT_SCHEMA)
}
