/** Addresses of a build for somebody who knows its schematic, whose ID may be hidden from others. */

/** The query that shows this knowledge; empty for an ID that was cut short. */
export const knowingQuery = ({ schematicId, schematicHidden }: KnownSchematic): string =>
  schematicHidden ? "" : `?schematic=${schematicId}`;

interface KnownSchematic {
  schematicId: string;
  schematicHidden: boolean;
}
