use wasm_encoder::{Function, GlobalType, MemoryType, RefType, TableType, TypeSection, ValType};
use wasmparser::Validator;

use super::*;

/// A module of the splitter with these functions, of which the first stands in a slot of the table.
fn module(slot: u32, globals: &[&str], functions: &[Function]) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    types.ty().function([], [ValType::I32]);
    let mut imports = ImportSection::new();
    let table = TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 10,
        maximum: None,
        shared: false,
    };
    let memory = MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports
        .import("main", "memory", memory)
        .import("main", "table", table);
    for name in globals {
        let global = GlobalType {
            val_type: ValType::I32,
            mutable: true,
            shared: false,
        };
        imports.import("main", name, global);
    }
    let (mut declared, mut code) = (FunctionSection::new(), CodeSection::new());
    for function in functions {
        declared.function(0);
        code.function(function);
    }
    let mut elements = ElementSection::new();
    elements.active(
        None,
        &ConstExpr::i32_const(slot.cast_signed()),
        Elements::Functions((&[0]).into()),
    );
    let mut data = DataSection::new();
    data.active(0, &ConstExpr::i32_const(0), []);
    data.active(
        0,
        &ConstExpr::i32_const(100 * slot.cast_signed()),
        slot.to_le_bytes(),
    );
    let mut names = NameMap::new();
    names.append(0, &format!("in slot {slot}"));
    let mut name_section = NameSection::new();
    name_section.functions(&names);
    let mut module = Module::new();
    module
        .section(&types)
        .section(&imports)
        .section(&declared)
        .section(&elements);
    module.section(&code).section(&data).section(&name_section);
    module.finish()
}

fn function(write: impl FnOnce(&mut wasm_encoder::InstructionSink<'_>)) -> Function {
    let mut function = Function::new([]);
    write(&mut function.instructions());
    function
}

/// A function that adds a global to its parameter.
fn add_global(index: u32) -> Function {
    function(|code| {
        code.local_get(0).global_get(index).i32_add().end();
    })
}

/// A shim for the function in a slot.
fn shim(slot: i32) -> Function {
    function(|code| {
        code.local_get(0).i32_const(slot).call_indirect(0, 0).end();
    })
}

/// Two functions, and shims for the first function of the other module and for one of the main module.
fn with_calls(slot: u32, other_slot: i32, global: u32, globals: &[&str]) -> Vec<u8> {
    let caller = function(|code| {
        code.local_get(0).call(2).call(3).call(0).end();
    });
    module(
        slot,
        globals,
        &[add_global(global), caller, shim(other_slot), shim(9)],
    )
}

fn merged() -> Vec<u8> {
    let first = with_calls(1, 2, 0, &["a"]);
    let second = with_calls(2, 1, 1, &["b", "a"]);
    merge(&[first, second]).unwrap()
}

/// The operators of the function with an index.
fn operators(module: &[u8], index: usize) -> String {
    let bodies = Parser::new(0)
        .parse_all(module)
        .filter_map(|payload| match payload.unwrap() {
            Payload::CodeSectionEntry(body) => Some(body),
            _ => None,
        });
    let body = bodies.into_iter().nth(index).unwrap();
    let operators = body.get_operators_reader().unwrap().into_iter();
    format!("{:?}", operators.collect::<Result<Vec<_>, _>>().unwrap())
}

#[test]
fn merged_modules_are_valid() {
    let merged = merged();
    Validator::new().validate_all(&merged).unwrap();
    let text = String::from_utf8_lossy(&merged);
    assert!(text.contains("in slot 1") && text.contains("in slot 2"));
    assert_eq!(text.matches("memory").count(), 1);
}

#[test]
fn functions_call_each_other_directly() {
    let merged = merged();
    for (caller, expected) in [(1, [4, 3, 0]), (5, [0, 7, 4])] {
        let calls = expected.map(|index| format!("Call {{ function_index: {index} }}"));
        assert!(operators(&merged, caller).contains(&calls.join(", ")), "{caller}");
    }
}

#[test]
fn only_shims_are_replaced() {
    // It ignores its parameter: the function in the slot has another type.
    let ignoring = function(|code| {
        code.i32_const(2).call_indirect(0, 1).end();
    });
    let caller = function(|code| {
        code.local_get(0).call(0).end();
    });
    let first = module(1, &[], &[ignoring, caller]);
    let second = module(2, &["a"], &[add_global(0)]);
    let merged = merge(&[first, second]).unwrap();
    assert!(operators(&merged, 1).contains("Call { function_index: 0 }"));
}

#[test]
fn globals_are_found_by_name() {
    let merged = merged();
    assert!(operators(&merged, 0).contains("GlobalGet { global_index: 0 }"));
    assert!(
        operators(&merged, 4).contains("GlobalGet { global_index: 0 }"),
        "the same"
    );
}

#[test]
fn other_modules_are_rejected() {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut imports = ImportSection::new();
    imports.import("main", "f", EntityType::Function(0));
    let mut module = Module::new();
    module.section(&types).section(&imports);
    let error = merge(&[module.finish()]).unwrap_err();
    assert!(error.to_string().contains("an imported function: f"));
}
