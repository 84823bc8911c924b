/** Returns the search for users by what people paste: with single spaces, and of a mobile number its last ten digits alone. */
export function userSearch(text: string): string {
  const trimmed = text.trim().replace(/\s+/g, ' ');
  return /^\+?[\d\s().-]+$/.test(trimmed) && /\d/.test(trimmed) ? trimmed.replace(/\D/g, '').slice(-10) : trimmed;
}
