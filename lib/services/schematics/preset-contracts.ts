/** What presets offer to pages and API. */
import type { Preset, PresetInput } from "../../domain/preset.ts";

export interface PresetService {
  /** By name; `label` is "name" or "name=value". */
  list(label?: string): Promise<Preset[]>;
  /** not_found when there is none. */
  require(id: string): Promise<Preset>;
  /**
   * invalid_input for an unknown schematic and for one that carries a machine configuration: whoever sees a preset can
   * read its schematic. conflict when the name is taken.
   */
  create(input: PresetInput): Promise<Preset>;
  /** Replaces everything but the id. Errors as create, not_found when there is none. */
  replace(id: string, input: PresetInput): Promise<Preset>;
  /** A copy under the first free name "<name> 2", "<name> 3", …. */
  copy(id: string): Promise<Preset>;
  remove(id: string): Promise<void>;
  /** YAML that `restore` reads, here or in another factory. */
  document(id: string): Promise<{ name: string; text: string }>;
  restore(text: string): Promise<Preset>;
}
