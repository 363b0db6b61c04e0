"use client";
/** The board, as a list that phones and keyboards know how to open; what a version lacks says from when it is there. */
import { BOARDS, findBoard } from "../../lib/domain/boards.ts";
import { boardLack } from "../../lib/domain/form/availability.ts";
import { OTHER_BOARD } from "../../lib/domain/form/form-state.ts";
import { useWords } from "../words/words-provider.tsx";
import { GuideLink } from "./guide-link.tsx";
import { lackText } from "./lack-text.ts";
import { ApplyButton, Problems } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

export function BoardSelect({ form, change, problems }: StepProps) {
  const words = useWords();
  const { t } = words;
  const wrong = problems("board");
  const unknown = findBoard(form.board) === null && form.board !== OTHER_BOARD;
  return (
    <div className="flex flex-col gap-2 pt-2">
      <label htmlFor="board" className="eyebrow">
        {t("board.title")}
      </label>
      <select
        id="board"
        name="board"
        className="input max-w-md"
        value={form.board}
        aria-invalid={wrong.length > 0}
        aria-describedby="board-problem"
        onChange={(event) => change({ board: event.target.value })}
      >
        {unknown && <option value={form.board}>{form.board}</option>}
        {BOARDS.map((board) => {
          const lack = boardLack(board, form.version);
          return (
            <option key={board.name} value={board.name} disabled={lack !== null && board.name !== form.board}>
              {lack === null ? board.label : `${board.label} (${lackText(words, lack)})`}
            </option>
          );
        })}
        <option value={OTHER_BOARD}>{t("board.other")}</option>
      </select>
      {form.board === OTHER_BOARD && <OverlayFields {...{ form, change, problems }} />}
      <Problems id="board-problem" problems={wrong} version={form.version} />
      <GuideLink subject={findBoard(form.board)} version={form.version} />
      <ApplyButton />
    </div>
  );
}

/** An overlay that is no known board's, by its own names. */
function OverlayFields({ form, change }: StepProps) {
  const { t } = useWords();
  const fields = [
    { name: "overlay-name", label: t("overlay.name"), key: "overlayName", example: "rpi_generic" },
    {
      name: "overlay-image",
      label: t("overlay.image"),
      key: "overlayImage",
      example: "siderolabs/sbc-raspberrypi",
    },
  ] as const;
  return (
    <div className="grid max-w-2xl gap-3 sm:grid-cols-2">
      {fields.map(({ name, label, key, example }) => (
        <label key={name} className="text-sm">
          <span className="mb-1 block font-medium">{label}</span>
          <input
            name={name}
            className="input font-mono text-sm"
            value={form[key]}
            placeholder={example}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            onChange={(event) => change({ [key]: event.target.value })}
          />
        </label>
      ))}
    </div>
  );
}
