// Optimises WASM files in place with Binaryen: node optimize-wasm.mjs BINARYEN FILE…
//
// In one process, because loading Binaryen takes seconds.

import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [library, ...files] = process.argv.slice(2);
const { default: binaryen } = await import(pathToFileURL(library).href);

// As -Os. -Oz makes a smaller file that Brotli compresses to a larger one.
binaryen.setOptimizeLevel(2);
binaryen.setShrinkLevel(1);
// The first kilobyte of the memory is the end of the stack, which grows downwards: no pointer refers to it.
binaryen.setLowMemoryUnused(true);

// The features that rustc assumes of every browser.
const { Features } = binaryen;
const FEATURES =
  Features.BulkMemory |
  Features.BulkMemoryOpt |
  Features.CallIndirectOverlong |
  Features.Multivalue |
  Features.MutableGlobals |
  Features.NontrappingFPToInt |
  Features.ReferenceTypes |
  Features.SignExt;

/** The functions that JavaScript imports have names with a hash, twice in what a browser loads. */
const JS_MODULE = './parlor_bg.js';

/** The classes of a library that Parlor does not use, which the JavaScript exports. */
const UNUSED_EXPORTS = /intounderlying/;
const UNUSED_CLASSES = /^export class IntoUnderlying\w+ \{[^]*?^\}\n(if \(Symbol\.dispose\).*\n)?/gm;

function removeUnusedExports(module, js) {
  for (let index = module.getNumExports() - 1; index >= 0; index--) {
    const { name } = binaryen.getExportInfo(module.getExportByIndex(index));
    if (UNUSED_EXPORTS.test(name)) module.removeExport(name);
  }
  writeFileSync(js, readFileSync(js, 'utf8').replace(UNUSED_CLASSES, ''));
}

/** Gives imported functions short names, in the WASM and in the JavaScript beside it. */
function shortenImports(module, js) {
  const imports = [];
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(index));
    if (info.module === JS_MODULE) imports.push(info);
  }
  const short = new Map(imports.map(({ base }, index) => [base, `f${index}`]));
  for (const { name, base, params, results } of imports) {
    module.removeFunction(name);
    module.addFunctionImport(name, JS_MODULE, short.get(base), params, results);
  }
  const script = readFileSync(js, 'utf8').replace(/__wb\w+/g, (name) => short.get(name) ?? name);
  writeFileSync(js, script);
}

/** The functions of Rust's library that report a panic: demangled in the main file, mangled in the others, which call them. */
const PANICS = [
  /^core(\[\w+\])?::(panicking|(option|result)::(unwrap|expect)_failed|slice::index::slice_\w+_fail|str::slice_error_fail|cell::panic_)/,
  /^alloc(\[\w+\])?::(raw_vec::(handle_error|capacity_overflow)|alloc::handle_alloc_error)|^<alloc\[\w+\]::vec.*::assert_failed$/,
  /^_(R\w*|ZN)4core(9panicking|6(option|result)\d+(unwrap|expect)_failed|5slice5index\d+slice_\w+_fail|3str16slice_error_fail|4cell\d+panic_)/,
];

/**
 * Lets a panic end the page's code without a message, as a trap: the messages and the code that writes them are 5 % of all. Those
 * of development builds have them.
 */
function removePanicMessages(module) {
  const found = [];
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const info = binaryen.getFunctionInfo(module.getFunctionByIndex(index));
    if (info.module === '' && PANICS.some((pattern) => pattern.test(info.name))) found.push(info);
  }
  for (const { name, params, results } of found) {
    module.removeFunction(name);
    module.addFunction(name, params, results, [], module.unreachable());
  }
}

for (const file of files) {
  const module = binaryen.readBinary(readFileSync(file));
  module.setFeatures(FEATURES);
  const js = file.replace('_bg.wasm', '.js');
  if (file.endsWith('_bg.wasm')) removeUnusedExports(module, js);
  removePanicMessages(module);
  // The second pass still improves the result of the first.
  module.optimize();
  module.optimize();
  if (file.endsWith('_bg.wasm')) shortenImports(module, js);
  // Functions with similar names are similar, and side by side Brotli compresses them better (1 %). Then the names are
  // no longer needed.
  module.runPasses(['reorder-functions-by-name', 'strip-debug', 'strip-producers', 'strip-target-features']);
  writeFileSync(file, module.emitBinary());
  module.dispose();
}
