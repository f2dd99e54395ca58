// A Firefox that does what it is told, one JSON object a line: `goto` a URL, `evaluate` a function with `args`, `click`
// the element that a function returns, `press` keys. Each is answered with a line: `value`, or `error`.
import { createInterface } from "node:readline";

import puppeteer from "puppeteer-core";

const [executablePath] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, timeout: 120_000 });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 1000 });
// Leaving a page with unsaved changes asks; a person who reloads says yes.
page.on("dialog", (dialog) => dialog.accept());

const functionOf = (text) => (0, eval)(`(${text})`);
const commands = {
  goto: async (url) => void (await page.goto(url)),
  evaluate: (text, args) => page.evaluate(functionOf(text), ...args),
  click: async (text, args) => {
    const element = (await page.evaluateHandle(functionOf(text), ...args)).asElement();
    if (element === null) throw new Error("There is no such element.");
    await element.click();
  },
  press: async (keys) => {
    const names = keys.split("+");
    for (const name of names) await page.keyboard.down(name);
    for (const name of names.reverse()) await page.keyboard.up(name);
  },
};
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

say({ value: await browser.version() });
for await (const line of createInterface({ input: process.stdin })) {
  const { command, value, args = [] } = JSON.parse(line);
  try {
    say({ value: (await commands[command](value, args)) ?? null });
  } catch (error) {
    say({ error: String(error) });
  }
}
await browser.close();
