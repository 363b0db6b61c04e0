/** The query of a page as the rest of the program reads queries. */
export type PageQuery = Record<string, string | string[] | undefined>;

/** Search parameters as URLSearchParams, repeats kept. */
export function toQuery(parameters: PageQuery): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined) query.append(name, item);
  }
  return query;
}
