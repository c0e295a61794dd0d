//! Environments with rows and cells: matrices, cases, aligned equations.

use pulldown_latex::event::{ArrayColumn, ColumnAlignment, EnvironmentFlow, Event, Grouping};

use super::builder::{MathBuilder, RowStyle};
use super::leaf::{Atom, stretched};
use super::node::{MathAttribute, MathElement, MathNode};

/// The rows of an environment.
#[derive(Default)]
struct Rows {
    rows: Vec<Vec<Vec<MathNode>>>,
    /// For each row, true if a line stands above it; one entry more for the line below the last row.
    lines: Vec<bool>,
}

/// Builds the environment that has just begun.
pub(super) fn environment(
    builder: &mut MathBuilder<'_>,
    grouping: &Grouping,
    outer: RowStyle,
) -> Option<MathNode> {
    let (class, is_display) = match grouping {
        Grouping::Align { .. }
        | Grouping::Aligned
        | Grouping::Alignat { .. }
        | Grouping::Alignedat { .. }
        | Grouping::Split => ("math-aligned", true),
        Grouping::Gather { .. } | Grouping::Gathered | Grouping::Multline => ("math-gathered", true),
        Grouping::Cases { .. } => ("math-cases", false),
        Grouping::SubArray { .. } => ("math-substack", false),
        Grouping::Equation { .. } => ("", outer.is_display),
        _ => ("math-matrix", false),
    };
    let is_aligned = class == "math-aligned";
    let style = RowStyle {
        font: None,
        is_display,
        is_enclosed: false,
    };
    let content = rows(builder, style, is_aligned)?;
    if let Grouping::Equation { .. } = grouping {
        return Some(MathNode::group(
            content.rows.into_iter().flatten().flatten().collect(),
        ));
    }
    let columns = columns(grouping);
    let mut table = Vec::with_capacity(content.rows.len());
    let last = content.rows.len().saturating_sub(1);
    for (index, cells) in content.rows.into_iter().enumerate() {
        let cells = cells.into_iter().enumerate();
        let cells = cells.map(|(column, children)| {
            let cell = MathNode::row(MathElement::TableCell, children);
            match columns
                .get(column)
                .or(columns.last().filter(|_| columns.len() == 1))
            {
                Some(class) if !class.is_empty() => cell.with(MathAttribute::Class, class.clone()),
                _ => cell,
            }
        });
        let row = MathNode::row(MathElement::TableRow, cells.collect());
        let above = content.lines.get(index) == Some(&true);
        let below = index == last && content.lines.get(index + 1) == Some(&true);
        table.push(match (above, below) {
            (true, true) => row.with(MathAttribute::Class, "math-line-above math-line-below"),
            (true, false) => row.with(MathAttribute::Class, "math-line-above"),
            (false, true) => row.with(MathAttribute::Class, "math-line-below"),
            (false, false) => row,
        });
    }
    let mut table = MathNode::row(MathElement::Table, table).with(MathAttribute::Class, class);
    if is_display {
        table = table.with(MathAttribute::DisplayStyle, "true");
    }
    Some(match grouping {
        Grouping::Cases { left: true } => MathNode::row(MathElement::Row, vec![stretched('{'), table]),
        Grouping::Cases { left: false } => MathNode::row(MathElement::Row, vec![table, stretched('}')]),
        _ => table,
    })
}

fn rows(builder: &mut MathBuilder<'_>, style: RowStyle, is_aligned: bool) -> Option<Rows> {
    let mut content = Rows {
        rows: vec![Vec::new()],
        lines: vec![false],
    };
    loop {
        let row = content.rows.last_mut()?;
        // The right part of an aligned equation continues its left part: a sign that begins it has a term before.
        let previous = (is_aligned && row.len() % 2 == 1).then_some(Atom::Ord);
        let cell = builder.row(style, previous)?;
        match builder.next()? {
            Event::EnvironmentFlow(EnvironmentFlow::StartLines { lines }) => {
                content.lines = vec![!lines.is_empty()];
            }
            Event::EnvironmentFlow(EnvironmentFlow::Alignment) => row.push(cell),
            Event::EnvironmentFlow(EnvironmentFlow::NewLine { horizontal_lines, .. }) => {
                row.push(cell);
                content.rows.push(Vec::new());
                content.lines.push(!horizontal_lines.is_empty());
            }
            Event::End => {
                // A line break at the end begins no row.
                if row.is_empty() && cell.is_empty() {
                    content.rows.pop();
                } else {
                    row.push(cell);
                }
                return Some(content);
            }
            _ => return None,
        }
    }
}

/// The classes of the columns. A single one is that of all columns.
fn columns(grouping: &Grouping) -> Vec<String> {
    let side = |alignment: &ColumnAlignment| match alignment {
        ColumnAlignment::Left => "math-left",
        ColumnAlignment::Center => "",
        ColumnAlignment::Right => "math-right",
    };
    match grouping {
        Grouping::Matrix { alignment } | Grouping::SubArray { alignment } => vec![side(alignment).to_owned()],
        Grouping::Array(specification) => {
            let mut columns: Vec<String> = Vec::new();
            let mut has_line = false;
            for column in specification {
                match column {
                    ArrayColumn::Separator(_) => match columns.last_mut() {
                        Some(last) => last.push_str(" math-line-after"),
                        None => has_line = true,
                    },
                    ArrayColumn::Column(alignment) => {
                        let line = if std::mem::take(&mut has_line) {
                            "math-line-before "
                        } else {
                            ""
                        };
                        columns.push([line, side(alignment)].concat());
                    }
                }
            }
            columns.iter().map(|class| class.trim().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}
