import { fileURLToPath } from 'node:url';

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url));

/** Settings with an MCP server: its `desk_echo` gives back its text, its `desk_wait` never ends. They have to be allowed, or not. */
export const desk = (approval: 'ask' | 'never'): string => `
[[mcp]]
name = "desk"
command = "${target}/debug/mcp-server"
approval = "${approval}"
`;

/** An answer that asks for one of its tools. */
export const asksFor = (name: string, text: string) => ({
  steps: [{ text: 'Let me try.' }, { tool_call: { id: 'call_1', name, arguments: JSON.stringify({ text }) } }],
});
