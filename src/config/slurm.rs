//! Slurm clusters that are asked.

use super::section::section;

section! {
    /// Slurm, over its REST daemon or with its command line tools.
    Slurm {
        url = "SLURM_REST_URL",
        token = "SLURM_JWT",
        token_file = "SLURM_JWT_FILE",
        user = "SLURM_USER_NAME",
        version = "SLURM_REST_VERSION",
        ca_file = "SLURM_CA_FILE",
        commands = "SLURM_COMMANDS",
    }
}
