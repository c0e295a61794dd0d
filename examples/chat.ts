// Asks a question, prints the answer as it comes, resumes after a cut, and asks for a summary.
//
//   PARLOR_TOKEN=parlor_… node examples/chat.ts "Why is the sky blue?"
//
// Node 22.18 or newer runs TypeScript. PARLOR_URL is the server's URL. On Parlor's own machine no token is needed.
// `npx openapi-typescript docs/openapi.json -o parlor.d.ts` writes types of the whole contract.

type Answer = { message?: string; status: string };
type Event = {
  type: string;
  position?: number;
  conversation_id?: string;
  expected_assistant_message_id?: string;
  text?: string;
};

const url = process.env.PARLOR_URL ?? 'http://127.0.0.1:7387';

async function call(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  if (process.env.PARLOR_TOKEN) headers.authorization = `Bearer ${process.env.PARLOR_TOKEN}`;
  if (body) headers['content-type'] = 'application/json';
  const response = await fetch(url + path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) });
  if (!response.ok || response.status === 204) throw new Error((await response.text()) || 'Nothing follows: load the message itself.');
  return response;
}

async function* events(response: Response): AsyncGenerator<Event> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice(5)) as Event;
  }
}

async function stream(message: string): Promise<Event> {
  let response: Response | undefined = await call('/api/chat/stream', { message });
  let run: string | undefined;
  let position = 0;
  for (;;) {
    try {
      response ??= await call(`/api/runs/${run}/events`, undefined, { 'last-event-id': String(position) });
      for await (const event of events(response)) {
        run = event.expected_assistant_message_id ?? run;
        position = event.position ?? position;
        if (event.type === 'text_delta') process.stdout.write(event.text ?? '');
        if (['complete', 'cancelled', 'error'].includes(event.type)) return event;
        if (['reset', 'log_damaged'].includes(event.type)) throw new Error('The rest can’t be followed: load the message itself.');
      }
    } catch (error) {
      // fetch throws a TypeError if a connection is cut. The run continues on the server.
      if (!run || !(error instanceof TypeError)) throw error;
    }
    response = undefined;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const { conversation_id } = await stream(process.argv[2] ?? 'Hello');
const answer = (await (await call('/api/chat/batch', { message: 'In one sentence?', conversation_id })).json()) as Answer;
console.log(`\n\n${answer.message ?? answer.status}`);
export {};
