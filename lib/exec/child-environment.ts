/** The environment of a program we start: only what is listed, nothing of our own. */

/** Joins the parts, later ones win. (Next declares NODE_ENV as required in every environment; a tool needs none.) */
export function childEnvironment(...parts: (Record<string, string> | undefined)[]): NodeJS.ProcessEnv {
  return Object.assign({}, ...parts);
}
