/** Each extension of the schematic in the target: present, renamed, gone, newer. */
import { entryPath } from "../../lib/domain/catalog/catalog-query.ts";
import type { ExtensionCheck, ExtensionState } from "../../lib/domain/upgrade/upgrade-types.ts";
import { ImageChange } from "../compare/image-change.tsx";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { Words } from "../words/translator.ts";

const TONES: Record<ExtensionState, Tone> = {
  present: "good",
  renamed: "accent",
  newer: "warn",
  gone: "bad",
  unknown: "bad",
};

/** What happens to it, in words; empty where the badge says all. */
function detailOf({ t }: Words, { state, action, after, version }: ExtensionCheck): string {
  if (action === "merge") return t("upgrade.detail.merge", { name: after?.name ?? "" });
  if (state === "renamed") return t("upgrade.detail.renamed", { name: after?.name ?? "" });
  if (action === "leave-out") return t("upgrade.detail.left-out");
  if (state === "newer" || state === "gone") return t(`upgrade.detail.${state}`, { version: version ?? "" });
  return state === "unknown" ? t("upgrade.detail.unknown") : "";
}

interface Props {
  words: Words;
  checks: ExtensionCheck[];
  /** The form that the choice of what is left out belongs to. */
  form: string;
}

type RowProps = Omit<Props, "checks"> & { check: ExtensionCheck };

/** The name, what happens to it, and whether it is left out. */
function Name({ words, check, form }: RowProps) {
  const { name, state, action, before, after } = check;
  const detail = detailOf(words, check);
  return (
    <span className="min-w-0">
      {state === "unknown" ? (
        <span className="break-all">{name}</span>
      ) : (
        <a
          className="link break-all"
          href={entryPath({ kind: "extension", name: (after ?? before)?.name ?? name })}
        >
          {name}
        </a>
      )}
      {detail !== "" && <span className="block text-soft">{detail}</span>}
      {after === null && (
        <label className="mt-1 inline-flex items-center gap-2">
          <input
            type="checkbox"
            name="leave-out"
            value={name}
            form={form}
            defaultChecked={action === "leave-out"}
          />
          {words.t("upgrade.leave-out")}
          <span className="sr-only">{name}</span>
        </label>
      )}
    </span>
  );
}

function Row(props: RowProps) {
  const { words, check } = props;
  const { state, before, after } = check;
  return (
    <li className="grid grid-cols-[1fr_auto] items-baseline gap-x-4 gap-y-1 py-2.5 text-sm md:grid-cols-[minmax(0,1fr)_minmax(0,16rem)_8rem]">
      <Name {...props} />
      <span className="break-all font-mono text-xs max-md:order-3 max-md:col-span-2">
        <ImageChange words={words} before={after === null ? null : before} after={after} />
      </span>
      <span className="text-right">
        <Badge tone={TONES[state]}>{words.t(`upgrade.state.${state}`)}</Badge>
      </span>
    </li>
  );
}

export function ExtensionChecks({ words, checks, form }: Props) {
  const placed = checks.map((check, at) => ({ check, at }));
  return (
    <ul className="divide-y divide-line border-y border-line">
      {placed.map(({ check, at }) => (
        <Row key={at} words={words} check={check} form={form} />
      ))}
    </ul>
  );
}
