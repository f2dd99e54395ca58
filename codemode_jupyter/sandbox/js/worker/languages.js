// Languages other than JavaScript that this Worker runs: each says here how a program or a snippet in it is begun.

/**
 * @typedef {{
 *   start: (message: Begin) => void,
 *   runSnippet: (snippet: Snippet, input: string) => Promise<unknown>,
 * }} Language input is tagged text
 */

/** @typedef {{name: string, place: "site" | "dynlib", bytes: Uint8Array}} PackageBytes */

/** @type {Map<string, Language>} */
const languages = new Map();
/**
 * What has to be loaded before the lockdown, made of what the Worker's owner sent with the port; does not fail.
 *
 * @type {((assets: any) => Promise<void>) | null}
 */
let prepareLanguage = null;
/**
 * Takes the packages that the program may import, before it begins.
 *
 * @type {(packages: PackageBytes[]) => void}
 */
let takePackages = () => {};
