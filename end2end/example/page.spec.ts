import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Literature } from '../support/literature.ts';
import { Program, cleanEnvironment } from '../support/program.ts';
import { test, expect } from '../support/test.ts';

/** The files that `scripts/xtask site --package parlor-inventory` builds. */
const site = fileURLToPath(new URL('../../target/site-parlor-inventory', import.meta.url));

test('an added page hydrates, and its draft takes a proposal', async ({ page, upstream }) => {
  const data = await mkdtemp(join(tmpdir(), 'parlor-page-'));
  const [program, url] = await Program.start('parlor-inventory', ['serve', '--no-browser', '--addr', '127.0.0.1:0', '--data', data], {
    ...cleanEnvironment(),
    PARLOR_SITE: site,
    PARLOR_CONFIG: '/dev/null',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_API_KEY: 'sk-test',
  });
  try {
    await upstream.script({ when: { user_contains: 'Where' }, steps: [{ text: 'Here.\nITEM_PROPOSAL: {"place": "Attic, shelf 2"}\n' }] });
    await page.goto(`${url}/inventory`);
    const literature = new Literature(page);
    const form = page.locator('#inventory');
    await literature.ready();
    await expect(page.getByRole('heading', { name: 'Inventory', level: 1 })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Inventory' })).toBeVisible();

    await form.getByLabel('Name').fill('Lamp');
    await literature.ask('Where is it?');
    await page.getByRole('button', { name: 'Accept' }).first().click();
    const asked = (await upstream.asked()).map((call) => JSON.stringify(call));
    expect(asked.join('\n'), 'the draft as it stands on the screen').toContain('name: Lamp');
    await expect(form.getByLabel('Place')).toHaveValue('Attic, shelf 2');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(form.getByLabel('Place')).toHaveValue('');
    await expect(form.getByLabel('Name')).toHaveValue('Lamp');
  } finally {
    await program.end('SIGTERM');
    await rm(data, { recursive: true, force: true });
  }
});
