import { target } from './program.ts';

/** Settings with an MCP server: `desk_echo` returns its text, `desk_wait` never ends. Both with the given approval setting. */
export const mcpSettings = (approval: 'ask' | 'never'): string => `
[[mcp]]
name = "desk"
command = "${target}/debug/mcp-server"
approval = "${approval}"
`;

/** An answer that calls one of its tools. */
export const callTool = (name: string, text: string) => ({
  steps: [{ text: 'Let me try.' }, { tool_call: { id: 'call_1', name, arguments: JSON.stringify({ text }) } }],
});
