"use client";
/** A text for a live region that is told once things are quiet. */
import { useEffect, useRef, useState } from "react";

const QUIET_MS = 900;

/** Empty until the text has changed for the first time. */
export function useAnnouncement(text: string): string {
  const [said, setSaid] = useState("");
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const timer = setTimeout(() => setSaid(text), QUIET_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return said;
}
