"use client";
/** Keeps the address in step with the form, so that it can be shared and reloaded. */
import { useEffect, useRef } from "react";
import { LONGEST_QUERY, type Opened, writeForm } from "../../lib/domain/form/form-address.ts";
import { type FormState, settleForm } from "../../lib/domain/form/form-state.ts";

const PAUSE_MS = 150;

export function useAddress(form: FormState, opened: Opened | null): void {
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const timer = setTimeout(() => {
      const query = writeForm(settleForm(form), opened).toString();
      // What is too long for an address stays on the page until it is created.
      if (query.length <= LONGEST_QUERY) window.history.replaceState(null, "", `/?${query}`);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [form, opened]);
}
