/** What can be wrong with a preset, as a short word that fits into an address. */
export const PRESET_PROBLEMS = ["name", "taken", "labels", "secret", "unknown", "document", "many"] as const;
export type PresetProblem = (typeof PRESET_PROBLEMS)[number];

/** The problem that a query names; null for none and for words that are none. */
export const presetProblem = (query: URLSearchParams): PresetProblem | null =>
  PRESET_PROBLEMS.find((problem) => problem === query.get("problem")) ?? null;
