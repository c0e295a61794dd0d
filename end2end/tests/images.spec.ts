import type { Page } from '@playwright/test';
import { PNG } from '../support/png.ts';
import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';
import { chunk, type Upstream } from '../support/upstream.ts';

const image = (page: Page) => page.locator('.made-image img');

/** A model that makes an image of what the message says, and a chat model that asks for it. */
async function draw(upstream: Upstream, prompt: string, more: Record<string, unknown> = {}): Promise<void> {
  const call = { id: 'call1', name: 'generate_image', arguments: JSON.stringify({ prompt, ...more }) };
  await upstream.script({ when: { user_contains: prompt }, times: 1, steps: [{ tool_call: call }] });
  await upstream.script({ when: { tool_gave: 'Made by' }, steps: [{ text: 'Here it is.' }] });
}

test.use({ settings: '[images]\nmodel = "openai/gpt-image-1"' });

test('an image is made, opened large, saved and edited', async ({ chat, page, upstream }) => {
  await draw(upstream, 'A red fox', { shape: 'landscape' });
  await upstream.script({ when: { image_prompt: 'fox' }, steps: [{ gate: 'made' }] });
  await chat.open();
  await chat.say('A red fox');
  const placeholder = page.getByRole('img', { name: 'The image is being made' });
  await expect(placeholder).toBeVisible();
  await expect(page.getByText('Generating image')).toBeVisible();
  await upstream.reached('made');
  const before = await placeholder.boundingBox();
  expect(before!.width / before!.height).toBeCloseTo(1.5, 1);
  await screenshots(page, 'image-placeholder');
  await upstream.open('made');
  await chat.done();
  await expect(image(page)).toBeVisible();
  await expect(page.getByText('Generated image')).toBeVisible();
  // It has taken the place of the placeholder.
  const after = await page.locator('.made-image').boundingBox();
  expect([after!.x, after!.width, after!.height]).toEqual([before!.x, before!.width, before!.height]);
  await screenshots(page, 'image-made');

  const saving = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  expect((await saving).suggestedFilename()).toBe('A red fox.png');

  await page.getByRole('button', { name: 'Edit this' }).click();
  await expect(chat.message).toHaveValue('Edit this image: ');
  await expect(page.getByRole('list', { name: 'Attached files' })).toContainText('A red fox.png');
  await chat.message.pressSequentially('blue fur');
  await screenshots(page, 'image-edit');
  await upstream.script({ when: { user_contains: 'blue fur' }, times: 1, steps: [{ text: 'Soon.' }] });
  await chat.message.press('Enter');
  await chat.done();
  // The model has the image, and the id with which it calls the tool.
  const asked = JSON.stringify((await upstream.asked()).at(-1));
  expect(asked).toContain('base64,');
  const [, messageId] = asked.match(/\\"id\\":\\"([0-9a-f-]{36}):0\\"/)!;
  const edit = { history_image_message_id: messageId, history_image_file_index: 0 };
  await draw(upstream, 'The same with blue paws', edit);
  await chat.say('The same with blue paws');
  await chat.done();
  await expect(image(page)).toHaveCount(2);
  expect(await upstream.imageEdits()).toEqual([
    expect.objectContaining({
      prompt: 'The same with blue paws',
      image: expect.objectContaining({ media_type: 'image/png' }),
    }),
  ]);

  // All images, one after the other: the first, its copy in the question, and the edited one.
  await page.locator('.made-image a').first().click();
  const large = page.getByRole('dialog', { name: 'Image' });
  await expect(large.getByText('1 of 3')).toBeVisible();
  await screenshots(page, 'image-large');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(large.getByText('3 of 3')).toBeVisible();
  await expect(large.getByRole('button', { name: 'Next image' })).toHaveAttribute('aria-disabled', 'true');
  await large.getByRole('button', { name: 'Previous image' }).click();
  await expect(large.getByText('2 of 3')).toBeVisible();
  // The button at the end keeps the focus, so the keys work on.
  await page.keyboard.press('ArrowRight');
  await expect(large.getByText('3 of 3')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(large).toBeHidden();
  await chat.reload();
  await expect(image(page)).toHaveCount(2);
});

test('a refusal is shown in words', async ({ chat, page, upstream }) => {
  await draw(upstream, 'Something bad');
  const error = { message: 'Your request was rejected by the safety system.', code: 'moderation_blocked' };
  await upstream.script({ when: { image_prompt: 'bad' }, steps: [{ status: { code: 400, body: { error } } }] });
  await upstream.script({ when: { tool_gave: 'refused' }, steps: [{ text: 'It was refused.' }] });
  await chat.open();
  await chat.say('Something bad');
  await chat.done();
  await expect(page.locator('.tool-error')).toContainText('refused to make this image: Your request was rejected by the safety system.');
  await expect(page.locator('.made')).toHaveCount(0);
});

test('an image in an answer is shown and kept', async ({ chat, page, upstream }) => {
  const url = `data:image/png;base64,${PNG}`;
  const raw = chunk({ content: 'Look:' }) + chunk({ images: [{ type: 'image_url', image_url: { url } }] }) + chunk({}, 'stop') + 'data: [DONE]\n\n';
  await upstream.script({ when: { user_contains: 'picture' }, steps: [{ raw }, 'end'] });
  await chat.open();
  await chat.say('A picture');
  await chat.done();
  await expect(image(page)).toHaveAttribute('alt', 'image-1.png');
  await chat.reload();
  await expect(image(page)).toHaveAttribute('src', /^\/rpc\/files\//);
});
