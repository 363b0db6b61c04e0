/** Reads step params: plain JSON of a plan, checked before a step trusts it. */
import { AppError } from "../errors/app-error.ts";
import type { Json, Product } from "./types.ts";

type Params = Record<string, Json>;

const wrong = (name: string, want: string): AppError =>
  new AppError("internal", `the step parameter ${name} is not ${want}`, { retryable: false });

/** The text under `name`; internal when it is something else. */
export function textParam(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw wrong(name, "text");
  return value;
}

/** The text under `name`, null when it is null or missing. */
export function optionalTextParam(params: Params, name: string): string | null {
  return params[name] === undefined || params[name] === null ? null : textParam(params, name);
}

/** The number under `name`. */
export function numberParam(params: Params, name: string): number {
  const value = params[name];
  if (typeof value !== "number") throw wrong(name, "a number");
  return value;
}

/** The boolean under `name`. */
export function flagParam(params: Params, name: string): boolean {
  const value = params[name];
  if (typeof value !== "boolean") throw wrong(name, "true or false");
  return value;
}

/** The texts by name under `name`. */
export function textsParam(params: Params, name: string): Record<string, string> {
  const value = params[name];
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw wrong(name, "an object");
  return Object.fromEntries(Object.keys(value).map((key) => [key, textParam(value, key)]));
}

/** The object under `name`. */
export function objectParam(params: Params, name: string): Params {
  const value = params[name];
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw wrong(name, "an object");
  return value;
}

/** The list of texts under `name`. */
export function textListParam(params: Params, name: string): string[] {
  const value = params[name];
  if (!Array.isArray(value)) throw wrong(name, "a list");
  return value.map((item) => {
    if (typeof item !== "string") throw wrong(name, "a list of texts");
    return item;
  });
}

/** The list of objects under `name`. */
export function listParam(params: Params, name: string): Params[] {
  const value = params[name];
  if (!Array.isArray(value)) throw wrong(name, "a list");
  return value.map((item) => {
    if (item === null || typeof item !== "object" || Array.isArray(item))
      throw wrong(name, "a list of objects");
    return item;
  });
}

/** The text under `name`, which must be one of `choices`. */
export function choiceParam<T extends string>(params: Params, name: string, choices: readonly T[]): T {
  const value = params[name];
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(name, `one of ${choices.join(", ")}`);
  return found;
}

/** Product number `index` of a step's needs. */
export function need(needs: readonly Product[], index: number): Product {
  const product = needs[index];
  if (!product)
    throw new AppError("internal", `the step lacks its input number ${index}`, { retryable: false });
  return product;
}
