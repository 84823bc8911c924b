import { type DescMessage, type DescMethodUnary, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import type { ConsoleTab } from './console-tab.ts';

/** Gives a tab the answers of a procedure as a service of another release gives them. */
export async function alterAnswer<I extends DescMessage, O extends DescMessage>(
  { page }: ConsoleTab,
  method: DescMethodUnary<I, O>,
  alter: (answer: MessageShape<O>) => void,
): Promise<void> {
  await page.route(new RegExp(`${method.parent.typeName}/${method.name}$`), async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const response = await route.fetch();
    const answer = fromBinary(method.output, await response.body());
    alter(answer);
    const { 'content-encoding': _, 'content-length': __, ...headers } = response.headers();
    return route.fulfill({ headers, body: Buffer.from(toBinary(method.output, answer)) });
  });
}
