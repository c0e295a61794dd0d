import { expect } from '@playwright/test';

/**
 * Waits until a state is as expected, looking every 50 ms. For states that nearly every test waits for: `expect` looks
 * after 0, 100, 350 and 850 ms and then every second. (`page.waitForFunction` cannot be used: the page forbids `eval`.)
 */
export async function expectSoon<State>(what: string, state: () => Promise<State>, expected: State): Promise<void> {
  // While the page navigates it has no state.
  const read = () =>
    state().catch((error: Error) => {
      if (/context was destroyed|navigat/.test(error.message)) return error.message;
      throw error;
    });
  await expect.poll(read, { message: what, intervals: [50] }).toEqual(expected);
}
