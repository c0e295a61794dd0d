/** A client of Parlor's event streams (docs/http.md). */

export type ParlorEvent = { type: string; position: number; conversation_id: string; [field: string]: any };

export class EventStream {
  readonly #aborter: AbortController;
  readonly #reader: AsyncGenerator<ParlorEvent>;

  private constructor(response: Response, aborter: AbortController) {
    this.#aborter = aborter;
    this.#reader = read(response);
  }

  /** Sends a message: `{ message, conversation_id?, model? }`. */
  static chat(url: string, turn: { message: string; conversation_id?: string; model?: string }): Promise<EventStream> {
    return this.#open(`${url}/api/chat/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(turn),
    });
  }

  /** Streams the log after a position; 0 is its beginning. */
  static everything(url: string, after = 0): Promise<EventStream> {
    return this.#open(`${url}/api/events?after=${after}`, {});
  }

  static async #open(url: string, request: RequestInit): Promise<EventStream> {
    const aborter = new AbortController();
    const response = await fetch(url, { ...request, signal: aborter.signal });
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    return new EventStream(response, aborter);
  }

  /** Returns the next event; `undefined` at the end. */
  async next(): Promise<ParlorEvent | undefined> {
    const { value } = await this.#reader.next();
    return value ?? undefined;
  }

  /** Returns the next event of a type and skips others. */
  async until(type: string): Promise<ParlorEvent> {
    for (let event; (event = await this.next()); ) if (event.type === type) return event;
    throw new Error(`the stream ended before ${type}`);
  }

  /** Returns all events to the end. */
  async rest(): Promise<ParlorEvent[]> {
    const events = [];
    for (let event; (event = await this.next()); ) events.push(event);
    return events;
  }

  close(): void {
    this.#aborter.abort();
  }
}

async function* read(response: Response): AsyncGenerator<ParlorEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop()!;
    for (const frame of frames) {
      // U+2028 ends a line for a regular expression, but not in an event stream.
      const data = frame.split('\n').find((line) => line.startsWith('data:'));
      if (data) yield JSON.parse(data.slice('data:'.length));
    }
  }
}

/** Runs a conversation over HTTP to the end of its answer. Returns its path. */
export async function runConversation(url: string, message: string): Promise<string> {
  const events = await (await EventStream.chat(url, { message })).rest();
  if (events.at(-1)?.type !== 'complete') throw new Error(`the answer to “${message}” ended with ${JSON.stringify(events.at(-1))}`);
  return `/c/${events[0]!.conversation_id}`;
}

/** Joins the deltas of a type. */
export function textOf(events: ParlorEvent[], type: 'text_delta' | 'thinking' = 'text_delta'): string {
  return events
    .filter((event) => event.type === type)
    .map((event) => event.text)
    .join('');
}
