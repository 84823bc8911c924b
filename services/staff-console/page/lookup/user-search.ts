/** Returns the search for users by what people paste: trimmed, and of a mobile number its last ten digits alone. */
export function userSearch(text: string): string {
  const trimmed = text.trim();
  return /^\+?[\d\s().-]+$/.test(trimmed) && /\d/.test(trimmed) ? trimmed.replace(/\D/g, '').slice(-10) : trimmed;
}
