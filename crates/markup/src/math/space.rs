//! Converts LaTeX's spaces and lengths to MathML, limited to a maximum length in em.

use pulldown_latex::event::{Dimension, DimensionUnit};

use super::node::{MathAttribute, MathElement, MathNode};

/// A space of fixed width.
pub(super) fn space(width: &'static str) -> MathNode {
    MathNode::row(MathElement::Space, Vec::new()).with(MathAttribute::Width, width)
}

/// Appends a space. MathML has no negative one, so that it consists of steps with a class.
pub(super) fn push_space(
    width: Option<Dimension>,
    height: Option<Dimension>,
    depth: Option<Dimension>,
    row: &mut Vec<MathNode>,
) {
    const STEP: f32 = 1.0 / 6.0;
    const MAX_STEPS: f32 = 12.0;
    let width_em = width.map_or(0.0, em);
    if width_em < 0.0 {
        let mut left = (-width_em / STEP).round().min(MAX_STEPS);
        while left > 0.0 {
            row.push(MathNode::row(MathElement::Space, Vec::new()).with(MathAttribute::Class, "math-back"));
            left -= 1.0;
        }
        return;
    }
    let parts = [
        (MathAttribute::Width, width),
        (MathAttribute::Height, height),
        (MathAttribute::Depth, depth),
    ];
    let mut node = MathNode::row(MathElement::Space, Vec::new());
    for (attribute, size) in parts {
        if let Some(size) = size.filter(|size| size.value > 0.0) {
            node = node.with(attribute, length(size));
        }
    }
    if !node.attributes.is_empty() {
        row.push(node);
    }
}

/// The maximum length, in em: nothing pushes the rest of an answer away.
const MAX_LENGTH_EM: f32 = 20.0;

/// A TeX length in CSS units, relative to the text.
pub(super) fn length(size: Dimension) -> String {
    let value = em(size).clamp(-MAX_LENGTH_EM, MAX_LENGTH_EM);
    // As integers: the code that formats floating-point numbers takes 5 KB of the page.
    let ten_thousandths = (value * 10_000.0).round() as i32;
    let sign = if ten_thousandths < 0 { "-" } else { "" };
    let digits = ten_thousandths.unsigned_abs();
    let (whole, fraction) = (digits / 10_000, format!("{:04}", digits % 10_000));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    [sign, &whole.to_string(), point, fraction, "em"].concat()
}

/// A TeX length in em of a text of ten points.
fn em(size: Dimension) -> f32 {
    let factor = match size.unit {
        DimensionUnit::Em => 1.0,
        DimensionUnit::Mu => 1.0 / 18.0,
        DimensionUnit::Ex => 0.43,
        DimensionUnit::Pt => 0.1,
        DimensionUnit::Bp => 0.100_375,
        DimensionUnit::Pc => 1.2,
        DimensionUnit::In => 7.227,
        DimensionUnit::Cm => 2.845,
        DimensionUnit::Mm => 0.2845,
        DimensionUnit::Dd => 0.107,
        DimensionUnit::Cc => 1.284,
        DimensionUnit::Sp => 0.1 / 65536.0,
    };
    let value = size.value * factor;
    if value.is_finite() { value } else { 0.0 }
}
