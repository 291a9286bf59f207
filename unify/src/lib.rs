//! Nothing: `-p unify` beside one package builds its dependencies as for all.
