"use client";
/** The board, as a list that phones and keyboards know how to open; what a version lacks says from when it is there. */
import { BOARDS, findBoard } from "../../lib/domain/boards.ts";
import { boardLack } from "../../lib/domain/form/availability.ts";
import { useWords } from "../words/words-provider.tsx";
import { lackText } from "./lack-text.ts";
import { ApplyButton, Problems } from "./section.tsx";
import type { StepProps } from "./step-props.ts";

export function BoardSelect({ form, change, problems }: StepProps) {
  const words = useWords();
  const wrong = problems("board");
  return (
    <div className="flex flex-col gap-2 pt-2">
      <label htmlFor="board" className="eyebrow">
        {words.t("board.title")}
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
        {findBoard(form.board) === null && <option value={form.board}>{form.board}</option>}
        {BOARDS.map((board) => {
          const lack = boardLack(board, form.version);
          return (
            <option key={board.name} value={board.name} disabled={lack !== null && board.name !== form.board}>
              {lack === null ? board.label : `${board.label} (${lackText(words, lack)})`}
            </option>
          );
        })}
      </select>
      <Problems id="board-problem" problems={wrong} version={form.version} />
      <ApplyButton />
    </div>
  );
}
