//! Merges WASM modules that the splitter has made into one.
//!
//! Each of them imports the memory, the function table and the globals of the main module, puts its functions into the table, and has a
//! shim for each function of another module, which calls it through the table. In one module, functions call each other directly.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail, ensure};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementSection, Elements, EntityType, FunctionSection,
    ImportSection, Module, NameMap, NameSection, RawSection, SectionId,
    reencode::{Error, Reencode},
};
use wasmparser::{
    Data, DataKind, ElementItems, ElementKind, FunctionBody, KnownCustom, Name, NameSectionReader, Operator,
    Parser, Payload, TypeRef,
};

/// A part of the function table: the first index, and the functions from there on.
type TablePart = (u32, Vec<u32>);

/// Modules that become one. Functions have their index in the result, where those of a module follow those of the one before.
#[derive(Default)]
struct Merger<'a> {
    /// The types, which all modules have.
    types: Option<&'a [u8]>,
    imports: ImportSection,
    /// The imports by module and name.
    imported: BTreeMap<(&'a str, &'a str), TypeRef>,
    /// The imported globals by name, with their index in the result.
    globals: BTreeMap<&'a str, u32>,
    functions: FunctionSection,
    function_count: u32,
    table: Vec<TablePart>,
    data: DataSection,
    names: NameMap,
    code: Vec<ModuleCode<'a>>,
}

/// The functions of a module.
struct ModuleCode<'a> {
    /// The index of the first one in the result.
    first_function: u32,
    /// The types of all.
    types: Vec<u32>,
    bodies: Vec<FunctionBody<'a>>,
    /// The indices in the result of the module's globals.
    globals: Vec<u32>,
}

/// Changes the indices in the code of a module to those in the result.
struct Renumbering<'a> {
    code: &'a ModuleCode<'a>,
    /// The functions that the shims call, by the indices of the shims.
    targets: &'a BTreeMap<u32, u32>,
}

/// Returns the module that does what all these modules do.
pub fn merge(modules: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut merger = Merger::default();
    for module in modules {
        merger.add(module)?;
    }
    merger.finish()
}

impl<'a> Merger<'a> {
    fn add(&mut self, module: &'a [u8]) -> Result<()> {
        let first_function = self.function_count;
        let mut code = ModuleCode {
            first_function,
            types: Vec::new(),
            bodies: Vec::new(),
            globals: Vec::new(),
        };
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::Version { .. } | Payload::CodeSectionStart { .. } | Payload::End(_) => {}
                // Without passive data nothing needs the count.
                Payload::DataCountSection { .. } => {}
                Payload::TypeSection(types) => {
                    let bytes = module
                        .get(types.range())
                        .context("a section outside of its module")?;
                    ensure!(
                        *self.types.get_or_insert(bytes) == bytes,
                        "the modules have different types"
                    );
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        if let TypeRef::Global(_) = import.ty {
                            let next = u32::try_from(self.globals.len())?;
                            code.globals
                                .push(*self.globals.entry(import.name).or_insert(next));
                        }
                        self.import((import.module, import.name), import.ty)?;
                    }
                }
                Payload::ExportSection(exports) => ensure!(exports.count() == 0, "exports"),
                Payload::FunctionSection(functions) => {
                    for ty in functions {
                        let ty = ty?;
                        self.functions.function(ty);
                        code.types.push(ty);
                        self.function_count += 1;
                    }
                }
                Payload::ElementSection(elements) => {
                    for element in elements {
                        self.table.push(table_part(element?, first_function)?);
                    }
                }
                Payload::CodeSectionEntry(body) => code.bodies.push(body),
                Payload::DataSection(segments) => {
                    for segment in segments {
                        self.add_data(&segment?)?;
                    }
                }
                Payload::CustomSection(custom) => {
                    if let KnownCustom::Name(names) = custom.as_known() {
                        self.add_names(names, first_function)?;
                    }
                }
                other => bail!("a section that is not merged: {other:?}"),
            }
        }
        self.code.push(code);
        Ok(())
    }

    fn add_names(&mut self, names: NameSectionReader<'a>, first_function: u32) -> Result<()> {
        for name in names {
            let Name::Function(functions) = name? else {
                continue;
            };
            for function in functions {
                let function = function?;
                self.names.append(first_function + function.index, function.name);
            }
        }
        Ok(())
    }

    fn import(&mut self, name: (&'a str, &'a str), ty: TypeRef) -> Result<()> {
        ensure!(
            !matches!(ty, TypeRef::Func(_)),
            "an imported function: {}",
            name.1
        );
        if let Some(other) = self.imported.insert(name, ty) {
            ensure!(other == ty, "{} is imported with two types", name.1);
            return Ok(());
        }
        let entity =
            EntityType::try_from(ty).map_err(|error| anyhow!("the type of {}: {error:?}", name.1))?;
        self.imports.import(name.0, name.1, entity);
        Ok(())
    }

    fn add_data(&mut self, segment: &Data<'a>) -> Result<()> {
        // The splitter keeps the number of the segments.
        if segment.data.is_empty() {
            return Ok(());
        }
        let DataKind::Active {
            memory_index: 0,
            offset_expr,
        } = &segment.kind
        else {
            bail!("data without an address");
        };
        let address = ConstExpr::i32_const(constant(offset_expr)?);
        self.data.active(0, &address, segment.data.iter().copied());
        Ok(())
    }

    fn finish(self) -> Result<Vec<u8>> {
        let targets = self.shim_targets()?;
        let mut code = CodeSection::new();
        for part in &self.code {
            let mut numbers = Renumbering {
                code: part,
                targets: &targets,
            };
            for body in &part.bodies {
                let encoded = numbers.parse_function_body(&mut code, body.clone());
                encoded.map_err(|error| anyhow!("a function: {error:?}"))?;
            }
        }
        let mut elements = ElementSection::new();
        for (start, functions) in self.table {
            let start = ConstExpr::i32_const(start.cast_signed());
            elements.active(None, &start, Elements::Functions(functions.into()));
        }
        let mut names = NameSection::new();
        names.functions(&self.names);
        let mut module = Module::new();
        let types = self.types.context("no types")?;
        module.section(&RawSection {
            id: SectionId::Type as u8,
            data: types,
        });
        module
            .section(&self.imports)
            .section(&self.functions)
            .section(&elements);
        module.section(&code).section(&self.data).section(&names);
        Ok(module.finish())
    }

    /// Returns the functions that shims call, if they are in these modules.
    fn shim_targets(&self) -> Result<BTreeMap<u32, u32>> {
        let mut slots = BTreeMap::new();
        for (start, functions) in &self.table {
            slots.extend((*start..).zip(functions.iter().copied()));
        }
        let mut targets = BTreeMap::new();
        for part in &self.code {
            let functions = part.bodies.iter().zip(&part.types);
            for ((body, ty), index) in functions.zip(part.first_function..) {
                let called = called_by_shim(body, *ty)?.and_then(|slot| slots.get(&slot));
                targets.extend(called.map(|called| (index, *called)));
            }
        }
        Ok(targets)
    }
}

impl Reencode for Renumbering<'_> {
    type Error = anyhow::Error;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<anyhow::Error>> {
        let index = self.code.first_function + function;
        Ok(self.targets.get(&index).copied().unwrap_or(index))
    }

    fn global_index(&mut self, global: u32) -> Result<u32, Error<anyhow::Error>> {
        let index = self.code.globals.get(global as usize).copied();
        index.ok_or_else(|| Error::UserError(anyhow!("an unknown global: {global}")))
    }

    fn data_index(&mut self, data: u32) -> Result<u32, Error<anyhow::Error>> {
        Err(Error::UserError(anyhow!("passive data: {data}")))
    }
}

/// Returns the slot of the table to whose function a shim of a type passes its parameters, or `None` for other functions.
fn called_by_shim(body: &FunctionBody<'_>, ty: u32) -> Result<Option<u32>> {
    if body.get_locals_reader()?.get_count() > 0 {
        return Ok(None);
    }
    let mut parameters = 0;
    let mut slot = None;
    for operator in body.get_operators_reader()? {
        match (operator?, slot) {
            (Operator::LocalGet { local_index }, None) if local_index == parameters => parameters += 1,
            (Operator::I32Const { value }, None) => slot = Some((value.cast_unsigned(), false)),
            // A function of another type passes only some of its parameters.
            (
                Operator::CallIndirect {
                    table_index: 0,
                    type_index,
                },
                Some((called, false)),
            ) if type_index == ty => slot = Some((called, true)),
            (Operator::End, Some((_, true))) => {}
            _ => return Ok(None),
        }
    }
    Ok(slot.map(|(called, _)| called))
}

fn table_part(element: wasmparser::Element<'_>, first_function: u32) -> Result<TablePart> {
    let (
        ElementKind::Active {
            table_index: None | Some(0),
            offset_expr,
        },
        ElementItems::Functions(functions),
    ) = (element.kind, element.items)
    else {
        bail!("elements without a place in the function table");
    };
    let start = constant(&offset_expr)?.cast_unsigned();
    let functions = functions
        .into_iter()
        .map(|function| Ok(first_function + function?));
    Ok((start, functions.collect::<Result<_>>()?))
}

/// Returns the value of a constant expression of one number.
fn constant(expression: &wasmparser::ConstExpr<'_>) -> Result<i32> {
    let Operator::I32Const { value } = expression.get_operators_reader().read()? else {
        bail!("not a constant number");
    };
    Ok(value)
}

#[cfg(test)]
mod tests;
