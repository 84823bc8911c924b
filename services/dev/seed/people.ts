import { pick, steps } from './deterministic.ts';

const staffNames = [
  'Anjali Deshmukh',
  'Rohit Kulkarni',
  'Farah Siddiqui',
  'Vikram Nair',
  'Meena Subramanian',
  'Joseph Fernandes',
  'Harpreet Kaur',
  'Debashish Ghosh',
  'Lakshmi Venkatesh',
];

const firstNames = [
  ...['Aarav', 'Aditi', 'Ajay', 'Akash', 'Amrita', 'Ananya', 'Arjun', 'Asha', 'Bhavna', 'Chetan'],
  ...['Deepa', 'Divya', 'Esha', 'Farhan', 'Gaurav', 'Geeta', 'Harish', 'Imran', 'Ishita', 'Jaya'],
  ...['Karan', 'Kavya', 'Kiran', 'Lalit', 'Madhuri', 'Manish', 'Naina', 'Neha', 'Nikhil', 'Pooja'],
  ...['Pranav', 'Priya', 'Rahul', 'Rekha', 'Ritu', 'Sanjay', 'Shreya', 'Sunita', 'Tanvi', 'Yusuf'],
];
const lastNames = [
  ...['Agarwal', 'Banerjee', 'Bhat', 'Chopra', 'Das', 'Gupta', 'Iyer', 'Jain', 'Joshi', 'Kapoor', 'Khan'],
  ...['Mehta', 'Menon', 'Mishra', 'Patel', 'Pillai', 'Rao', 'Reddy', 'Shah', 'Sharma', 'Singh', 'Thomas', 'Verma'],
];

/** The staff users. */
export const staffUsers = staffNames.map((name, index) => ({ id: index + 1, name }));

/** Returns the customers. Some of them have no name, and some no email. */
export function makeUsers(now: Date) {
  return steps(200).map((index) => {
    const first = pick(firstNames, index * 7 + Math.floor(index / 40));
    const last = pick(lastNames, index * 5 + 3);
    const isNameless = index % 17 === 11;
    const hasEmail = !isNameless && index % 9 !== 4;
    return {
      id: index + 1,
      name: isNameless ? null : `${first} ${last}`,
      email: hasEmail ? `${first}.${last}${index + 1}@example.com`.toLowerCase() : null,
      // The step and the range have no common factor, so no number is repeated.
      mobile: String(7_000_000_000 + ((index * 1_236_067_979 + 812_345_677) % 3_000_000_000)),
      created_at: new Date(now.getTime() - (400 - index * 2) * 86_400_000).toISOString(),
    };
  });
}
