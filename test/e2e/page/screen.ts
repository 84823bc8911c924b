import { ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';

/** The one element that a selector names. */
export function find<E extends Element>(selector: string, type: new () => E): E {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`);
  return element;
}

/** Runs an action when a button is pressed. */
export function onClick(button: HTMLButtonElement, action: () => Promise<string>): void {
  button.addEventListener('click', () => void run(action));
}

/** Runs an action with what the fields of a form hold when it is sent. */
export function onSubmit(selector: string, action: (field: (name: string) => string) => Promise<string>): void {
  const form = find(selector, HTMLFormElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const fields = new FormData(form);
    void run(() => action((name) => String(fields.get(name) ?? '')));
  });
}

export function show(list: string, rows: readonly (string | Node)[][]): void {
  find(`ul[aria-label="${list}"]`, HTMLUListElement).replaceChildren(...listItems(rows));
}

function listItems(rows: readonly (string | Node)[][]): HTMLLIElement[] {
  return rows.map((row) => {
    const item = document.createElement('li');
    item.append(...row);
    return item;
  });
}

/** Shows what an action answers, or why it failed. */
async function run(action: () => Promise<string>): Promise<void> {
  const status = find('[role=status]', HTMLElement);
  const alert = find('[role=alert]', HTMLElement);
  status.replaceChildren();
  alert.replaceChildren();
  try {
    status.replaceChildren(await action());
  } catch (error) {
    alert.replaceChildren(...describeFailure(error));
  }
}

/** The message of a failed call, and the fields of the request that were refused. */
function describeFailure(thrown: unknown): Node[] {
  const error = ConnectError.from(thrown);
  const message = document.createElement('p');
  message.append(error.rawMessage);
  const violations = error.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations);
  const fields = document.createElement('ul');
  fields.append(...listItems(violations.map(({ field, description }) => [`${field} ${description}`])));
  return [message, fields];
}
