import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { OidcProvider } from '../../support/oidc-provider.ts';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

/** A provider, and a console whose staff sign in there. It has slot 7. */
export class OidcStage {
  #open: { readonly provider: OidcProvider; readonly stage: ConsoleStage } | undefined;

  get #parts() {
    if (this.#open === undefined) throw new Error('the stage is not open');
    return this.#open;
  }

  get provider(): OidcProvider {
    return this.#parts.provider;
  }

  get stage(): ConsoleStage {
    return this.#parts.stage;
  }

  async open(): Promise<void> {
    const provider = await OidcProvider.start();
    const stage = new ConsoleStage({ variables: provider.variables, auth: provider.auth });
    await stage.open();
    await provider.register(stage.origin);
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
    );
    this.#open = { provider, stage };
  }

  /** The provider behaves as at the start, and has granted nothing. */
  reset(): void {
    const { behaviour, grants } = this.provider;
    Object.assign(behaviour, { tokenSeconds: 3_600, givesRefreshTokens: false, isolatesWindows: false });
    behaviour.staffIdOf = () => 1;
    behaviour.nameOf = (subject) => `${subject} of the provider`;
    grants.length = 0;
  }

  /** Opens the console for somebody who is not signed in. */
  openTab(path = '/slots'): Promise<ConsoleTab> {
    return this.stage.openTab({ path, token: '' });
  }

  /** Opens the console, and signs in at the provider. */
  async signIn(path = '/slots', name = 'asha'): Promise<ConsoleTab> {
    const tab = await this.openTab(path);
    await tab.button('Sign in').click();
    await answer(tab.page, name);
    await tab.page.locator('.account').waitFor({ state: 'attached' });
    return tab;
  }

  async close(): Promise<void> {
    await this.stage.close();
    this.provider.close();
  }
}

/** Declares tests in Chromium of a console with a provider, which behaves in each as at the start. */
export function describeWithProvider(title: string, tests: (oidc: OidcStage) => void): void {
  describeInBrowser(title, () => {
    const oidc = new OidcStage();
    beforeAll(() => oidc.open());
    beforeEach(() => oidc.reset());
    afterAll(() => oidc.close());
    tests(oidc);
    afterEach(() => oidc.stage.closeTabs());
  });
}

export const atProvider = (page: Page) => page.getByRole('heading', { name: 'The provider', exact: true });

/** What a person does at the provider, in the page or in a window of its own. */
export async function answer(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
}
