//! Recordings: answers over files, folders, archives and standard input.
