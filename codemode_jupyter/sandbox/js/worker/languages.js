// Languages other than JavaScript that this Worker runs: each says here how a program of it is begun.

/** @type {Map<string, (message: Begin) => void>} */
const languages = new Map();
/**
 * What has to be loaded before the lockdown, made of what the Worker's owner sent with the port; does not fail.
 *
 * @type {((assets: any) => Promise<void>) | null}
 */
let prepareLanguage = null;
