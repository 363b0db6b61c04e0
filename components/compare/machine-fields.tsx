/** For which machine the command line is shown: the same three fields in the forms of two pages. */
import { ARCHES } from "../../lib/domain/asset.ts";
import type { MachineTarget } from "../../lib/domain/machine-target.ts";
import { PLATFORMS } from "../../lib/domain/platforms.ts";
import type { Words } from "../words/translator.ts";

export function MachineFields({ words, target }: { words: Words; target: MachineTarget }) {
  const { t } = words;
  return (
    <>
      <label>
        <span className="eyebrow">{t("platform.title")}</span>
        <select name="platform" className="input mt-1" defaultValue={target.platform}>
          {PLATFORMS.map(({ name, label }) => (
            <option key={name} value={name}>
              {name === "metal" ? t("target.metal") : label}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="eyebrow">{t("arch.title")}</span>
        <select name="arch" className="input mt-1" defaultValue={target.arch}>
          {ARCHES.map((arch) => (
            <option key={arch} value={arch}>
              {arch}
            </option>
          ))}
        </select>
      </label>
      <label className="flex min-h-10 items-center gap-2 self-end text-sm">
        <input type="checkbox" name="secureboot" value="true" defaultChecked={target.secureboot} />
        {t("field.secureboot")}
      </label>
    </>
  );
}
