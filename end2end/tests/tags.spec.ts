import { screenshots } from '../support/screenshots.ts';
import { expect, test } from '../support/test.ts';

const TAGS = `Water is H<sub>2</sub>O, an area m<sup>2</sup>; press <kbd>Ctrl</kbd> + <kbd>C</kbd> to copy <mark>this</mark>.

| Step | Lines |
|------|-------|
| one  | first<br>second |

<details>
<summary>More about <b>it</b></summary>

Hidden **text**.

</details>

> [!NOTE]
> Worth knowing.

> [!WARNING]
> Take care.

Still <b onclick="x">raw</b>.`;

test('a few tags have a meaning', async ({ chat, page, upstream }) => {
  await upstream.script({ steps: [{ text: 'Before <sub>low' }, { gate: 'rest' }, { text: `.\n\n${TAGS}` }] });
  await chat.open();
  await chat.say('Show');
  const answer = chat.answers.last();
  await expect(answer.locator('sub')).toHaveText('low');
  await upstream.open('rest');
  await chat.done();
  await expect(answer).toContainText('Before <sub>low.');
  await expect(answer.locator('kbd')).toHaveText(['Ctrl', 'C']);
  await expect(answer.locator('mark')).toHaveText('this');
  await expect(answer.locator('td br')).toHaveCount(1);
  await expect(answer.locator('b')).toHaveCount(0);
  await expect(answer.getByRole('note')).toHaveText([/Note\s*Worth knowing/, /Warning\s*Take care/]);

  await expect(answer.getByText('Hidden text.')).toBeHidden();
  await answer.getByText('More about it').click();
  await expect(answer.getByText('Hidden text.')).toBeVisible();
  await screenshots(page, 'tags');

  // The browser takes over what the server rendered.
  await chat.open(chat.path);
  await expect(answer.locator('sub')).toHaveText(['2']);
  await expect(answer.locator('kbd')).toHaveText(['Ctrl', 'C']);
  await expect(answer.locator('td br')).toHaveCount(1);
  await expect(answer.getByRole('note')).toHaveCount(2);
  await expect(answer.getByText('Hidden text.')).toBeHidden();
  await answer.getByText('More about it').click();
  await expect(answer.getByText('Hidden text.')).toBeVisible();
});
