//! blizzarr._native: the border between Python and the engine. No Zarr logic in here.
use pyo3::prelude::*;

#[pymodule]
fn _native(_m: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
