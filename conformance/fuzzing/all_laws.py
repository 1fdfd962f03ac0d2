"""Every law there is."""

from __future__ import annotations

from conformance.fuzzing.laws import SURFACE_LAWS, Law
from conformance.fuzzing.storage_laws import STORAGE_LAWS

LAWS: tuple[Law, ...] = (*SURFACE_LAWS, *STORAGE_LAWS)
