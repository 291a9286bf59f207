//! Fields that were added to what stores hold in bytes: there they are not in their struct, whose bytes must stay what older
//! stores have. Who writes such bytes puts them behind the rest.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T: Serialize, S: Serializer>(field: &T, to: S) -> Result<S::Ok, S::Error> {
    if to.is_human_readable() {
        field.serialize(to)
    } else {
        to.serialize_unit()
    }
}

pub(crate) fn deserialize<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    if from.is_human_readable() {
        T::deserialize(from)
    } else {
        <()>::deserialize(from).map(|()| T::default())
    }
}
