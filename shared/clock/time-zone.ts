// A letter first, which no offset has. Three letters only where IANA has them: Intl takes further ones, and reads BST as
// the time of Bangladesh.
const ianaName = /^(?:[A-Z]\w|(?:[CEMW]ET|[EHM]ST|GMT|PRC|RO[CK]|UCT|UTC)|[A-Z][\w/+-]{3,})$/i;

/**
 * Whether a text is the name of a time zone in the IANA database, in any case. Links, such as `Asia/Calcutta`, are;
 * offsets and POSIX texts are not.
 */
export function isTimeZone(name: string): boolean {
  if (!ianaName.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
