/** A titled part of a schematic's page; on paper it takes less room. */
import type { ReactNode } from "react";
import { Part } from "../ui/part.tsx";

interface Props {
  id: string;
  title: string;
  className?: string;
  children: ReactNode;
}

export const ResultPart = ({ className = "space-y-3", ...part }: Props) => (
  <Part {...part} className={`${className} print:space-y-1.5 print:pt-2`} />
);
