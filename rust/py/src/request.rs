//! A request from Python: the index transform of one operation, checked against the array and the buffer.

use std::sync::Arc;

use blizzarr_core::error::Result;
use blizzarr_core::region::{Axis, Points, Region};
use blizzarr_core::scratch;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

use crate::buffer::Buffer;
use crate::errors::{raise, Place};

/// Lowers `axes` (see `blizzarr.indexing.selection`) to a region of an array of `shape`, whose elements lie in a
/// buffer. `place` is that of the array.
pub fn region(axes: &Bound<'_, PyTuple>, shape: &[usize], buffer: &Buffer, place: &Place) -> PyResult<Region> {
    let (domain, strides) = (&buffer.shape[..], &buffer.strides[..]);
    if axes.len() != shape.len() {
        return Err(mismatch(format!("expected {} axes, found {}", shape.len(), axes.len())));
    }
    let mut used = vec![false; domain.len()];
    let mut wanted = Vec::with_capacity(shape.len());
    let mut groups: Vec<(Vec<usize>, Vec<Vec<i64>>)> = Vec::new();
    for (number, (entry, &size)) in axes.iter().zip(shape).enumerate() {
        if entry.is_instance_of::<PyInt>() {
            let start: i64 = entry.extract()?;
            check(start, number, size)?;
            wanted.push(Axis::Strided { start, step: 1, count: 1, stride: 0 });
            continue;
        }
        let entry = entry.cast::<PyTuple>()?;
        if entry.len() == 3 {
            let (dim, start, step): (usize, i64, i64) = entry.extract()?;
            claim(&mut used, dim)?;
            let count = domain[dim];
            if count > 0 {
                let reach = step.checked_mul(count as i64 - 1).and_then(|reach| reach.checked_add(start));
                check(start, number, size)?;
                check(reach.unwrap_or(i64::MAX), number, size)?;
            }
            if step == 0 && count > 1 {
                return Err(mismatch("expected a step other than 0".into()));
            }
            wanted.push(Axis::Strided { start, step, count, stride: strides[dim] });
            continue;
        }
        let dims: Vec<usize> = entry.get_item(0)?.extract()?;
        let coords = listed(&entry.get_item(1)?, &dims, domain, place)?;
        if let Some(outside) = coords.iter().copied().find(|&index| index < 0 || index >= size as i64) {
            check(outside, number, size)?;
        }
        let group = groups.iter().position(|(of, _)| *of == dims).unwrap_or(groups.len());
        if group == groups.len() {
            for &dim in &dims {
                claim(&mut used, dim)?;
            }
            groups.push((dims, Vec::new()));
        }
        wanted.push(Axis::Listed { group, member: groups[group].1.len() });
        groups[group].1.push(coords);
    }
    if let Some(dim) = (0..domain.len()).find(|&dim| !used[dim] && domain[dim] != 1) {
        return Err(mismatch(format!("dimension {dim} of length {} selects nothing", domain[dim])));
    }
    let region = Region { base: 0, axes: wanted, groups: Vec::new() };
    ordered(region, groups, domain, strides).map_err(|error| raise(axes.py(), error, Some(place)))
}

/// Puts the groups in the order of their dimensions, so that of repeated positions the last in C order is last.
fn ordered(
    mut region: Region,
    groups: Vec<(Vec<usize>, Vec<Vec<i64>>)>,
    domain: &[usize],
    strides: &[isize],
) -> Result<Region> {
    let mut numbers: Vec<usize> = (0..groups.len()).collect();
    numbers.sort_by_key(|&group| groups[group].0.first().copied());
    for axis in &mut region.axes {
        if let Axis::Listed { group, .. } = axis {
            *group = numbers.iter().position(|number| number == group).unwrap_or(0);
        }
    }
    let mut groups: Vec<Option<_>> = groups.into_iter().map(Some).collect();
    for number in numbers {
        let Some((dims, coords)) = groups[number].take() else { continue };
        let offsets = Arc::new(offsets(&dims, domain, strides)?);
        let origin = vec![0; coords.len()];
        region.groups.push(Points { coords: coords.into(), range: 0..offsets.len(), offsets, origin });
    }
    Ok(region)
}

/// Memory offsets of a group's points, in C order of its dimensions.
fn offsets(dims: &[usize], domain: &[usize], strides: &[isize]) -> Result<Vec<isize>> {
    if let [dim] = *dims {
        return scratch::listed((0..domain[dim]).map(|step| step as isize * strides[dim]));
    }
    let mut offsets = vec![0isize];
    for &dim in dims {
        let steps = 0..domain[dim] as isize;
        let mut further = scratch::list(offsets.len() * domain[dim])?;
        for &offset in &offsets {
            further.extend(steps.clone().map(|step| offset + step * strides[dim]));
        }
        offsets = further;
    }
    Ok(offsets)
}

fn listed(array: &Bound<'_, PyAny>, dims: &[usize], domain: &[usize], place: &Place) -> PyResult<Vec<i64>> {
    let buffer = Buffer::reading(array)?;
    let expected: Vec<usize> = dims.iter().map(|&dim| domain.get(dim).copied().unwrap_or(0)).collect();
    if buffer.shape != expected || buffer.itemsize != 8 {
        return Err(mismatch(format!("expected 64-bit indices of shape {expected:?}, found {:?}", buffer.shape)));
    }
    numbers(buffer.bytes()?).map_err(|error| raise(array.py(), error, Some(place)))
}

/// 64-bit numbers that lie one behind the other.
pub fn numbers(bytes: &[u8]) -> Result<Vec<i64>> {
    scratch::listed(bytes.chunks_exact(8).map(|number| i64::from_ne_bytes(number.try_into().unwrap_or_default())))
}

fn claim(used: &mut [bool], dim: usize) -> PyResult<()> {
    match used.get_mut(dim) {
        Some(slot) if !*slot => {
            *slot = true;
            Ok(())
        }
        Some(_) => Err(mismatch(format!("dimension {dim} is used by two selections"))),
        None => Err(mismatch(format!("there is no dimension {dim}"))),
    }
}

fn check(index: i64, axis: usize, size: usize) -> PyResult<()> {
    if index >= 0 && (index as u64) < size as u64 {
        return Ok(());
    }
    Err(PyIndexError::new_err(format!("index {index} is out of bounds for axis {axis} of length {size}")))
}

fn mismatch(reason: String) -> PyErr {
    PyValueError::new_err(reason)
}
