//! Data of an unknown type, as a foldable tree.

use leptos::prelude::*;

use crate::runtime::erase::Erase;
use parlor_protocol::panel::TreeNode;

/// The depth that is open at first.
const INITIAL_OPEN_DEPTH: usize = 2;

/// The whole tree.
pub fn tree(root: &TreeNode) -> AnyView {
    if root.branches.is_empty() {
        return view! { <div class="tree">{leaf(root)}</div> }.erase();
    }
    view! { <div class="tree">{branches(root, 0)}</div> }.erase()
}

fn branches(branch: &TreeNode, depth: usize) -> AnyView {
    let entries: Vec<_> = branch
        .branches
        .iter()
        .map(|branch| entry(branch, depth))
        .collect();
    let missing =
        (!branch.missing.is_empty()).then(|| view! { <li class="tree-more">{branch.missing.clone()}</li> });
    view! { <ul>{entries} {missing}</ul> }.erase()
}

fn entry(branch: &TreeNode, depth: usize) -> AnyView {
    if branch.branches.is_empty() {
        return view! { <li>{leaf(branch)}</li> }.erase();
    }
    view! {
        <li>
            <details open=depth < INITIAL_OPEN_DEPTH>
                <summary>
                    {name(branch)}
                    <span class="tree-count">{branch.text.clone()}</span>
                </summary>
                {branches(branch, depth + 1)}
            </details>
        </li>
    }
    .erase()
}

fn leaf(branch: &TreeNode) -> AnyView {
    view! {
        {name(branch)}
        <span class="tree-text" dir="auto">{branch.text.clone()}</span>
    }
    .erase()
}

fn name(branch: &TreeNode) -> Option<AnyView> {
    let name = branch.name.clone()?;
    Some(view! { <span class="tree-name" dir="auto">{name} ":"</span> }.erase())
}
