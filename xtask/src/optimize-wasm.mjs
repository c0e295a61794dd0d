// Optimises WASM files in place with Binaryen: node optimize-wasm.mjs BINARYEN FILE…
//
// In one process, because loading Binaryen takes seconds and there are more than a hundred files.

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

for (const file of files) {
  const module = binaryen.readBinary(readFileSync(file));
  module.setFeatures(FEATURES);
  // The second pass still improves the result of the first.
  module.optimize();
  module.optimize();
  // Functions with similar names are similar, and side by side Brotli compresses them better (1 %). Then the names are
  // no longer needed.
  module.runPasses(['reorder-functions-by-name', 'strip-debug']);
  writeFileSync(file, module.emitBinary());
  module.dispose();
}
