import type { Page } from 'playwright-core';
import { OidcProvider } from '../../support/oidc-provider.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

/** A provider, and a console whose staff sign in there. It has slot 7. */
export class OidcStage {
  readonly provider: OidcProvider;
  readonly stage: ConsoleStage;

  private constructor(provider: OidcProvider, stage: ConsoleStage) {
    this.provider = provider;
    this.stage = stage;
  }

  static async open(): Promise<OidcStage> {
    const provider = await OidcProvider.start();
    const stage = await ConsoleStage.open(provider.variables, provider.auth);
    await provider.register(stage.origin);
    await stage.slot.database.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
    );
    return new OidcStage(provider, stage);
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

  async signIn(path: string, name = 'asha'): Promise<ConsoleTab> {
    const tab = await this.openTab(path);
    await tab.button('Sign in').click();
    await answer(tab.page, name);
    await tab.page.getByText(`${name} of the provider`).waitFor();
    return tab;
  }

  async close(): Promise<void> {
    await this.stage.close();
    this.provider.close();
  }
}

export const atProvider = (page: Page) => page.getByRole('heading', { name: 'The provider', exact: true });

/** What a person does at the provider, in the page or in a window of its own. */
export async function answer(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
}
