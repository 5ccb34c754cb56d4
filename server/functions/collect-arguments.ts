import type { InitField, InputField } from '../../contract/functions.ts';
import { convertParameters, type ParameterProblem } from './convert-parameters.ts';
import type { InitParams } from './init-params.ts';
import { isSoundJson } from './json-value.ts';
import type { JsonValue } from './python-sandbox.ts';

export interface ArgumentSources {
  inputFields: readonly InputField[];
  initFields: readonly InitField[];
  initParams: InitParams | null;
  /** What the call gives, by name. */
  values: ReadonlyMap<string, unknown>;
  /**
   * What becomes of a value whose name no parameter has: `ignore` as MaxKB's debug does, or `refuse`, since a misspelt
   * optional parameter would else go unnoticed.
   */
  unknownNames: 'ignore' | 'refuse';
  /** Whether the call may give init fields other values: their owner may, nobody else (R115). */
  mayOverrideInit: boolean;
}

export type CollectedArguments =
  | { kind: 'collected'; arguments: Record<string, JsonValue> }
  | { kind: 'refused'; problem: ParameterProblem };

/** The keyword arguments of a call: init values below what the call gives (R114), every problem naming its field. */
export function collectArguments(sources: ArgumentSources): CollectedArguments {
  const converted = convertParameters(sources.inputFields, sources.values);
  if (converted.kind === 'refused') return converted;
  const collected = new Map(Object.entries(sources.initParams ?? {}));
  for (const [name, value] of sources.values) {
    if (value === undefined || sources.inputFields.some((field) => field.name === name)) continue;
    const isOverride = sources.mayOverrideInit && sources.initFields.some(({ field }) => field === name);
    if (isOverride && !isSoundJson(value)) return refused('function_parameter_too_deep', name);
    if (isOverride && isSoundJson(value)) collected.set(name, value);
    else if (sources.unknownNames === 'refuse') return refused('function_parameter_unknown', name);
  }
  for (const [name, value] of converted.parameters) collected.set(name, value);
  const missing = sources.initFields.find(({ field, required }) => required === true && isEmpty(collected.get(field)));
  if (missing) return refused('function_parameter_missing', missing.field);
  return { kind: 'collected', arguments: Object.fromEntries(collected) };
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}

function refused(code: ParameterProblem['code'], name: string): CollectedArguments {
  return { kind: 'refused', problem: { code, values: [name] } };
}
