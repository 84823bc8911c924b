import { steps } from './deterministic.ts';

const catalogue = {
  'Fresh Vegetables': [
    ...['Tomato Hybrid 1 kg', 'Onion Nashik 1 kg', 'Potato Jyoti 2 kg', 'Green Capsicum 500 g', 'Cauliflower 1 pc'],
    ...['Lady Finger 500 g', 'Carrot Ooty 500 g', 'Spinach Bunch 250 g', 'Coriander Leaves 100 g'],
  ],
  'Fresh Fruits': [
    ...['Banana Robusta 6 pcs', 'Apple Shimla 1 kg', 'Mango Alphonso 6 pcs', 'Pomegranate Bhagwa 1 kg'],
    ...['Papaya Semi-ripe 1 pc', 'Sweet Lime 1 kg', 'Watermelon Kiran 1 pc', 'Guava Allahabad 500 g'],
  ],
  'Dairy and Eggs': [
    ...['Toned Milk 1 l', 'Full Cream Milk 500 ml', 'Set Curd 400 g', 'Paneer Block 200 g', 'Salted Butter 500 g'],
    ...['Cow Ghee 1 l', 'Farm Eggs 12 pcs', 'Cheddar Slices 200 g'],
  ],
  'Rice and Atta': [
    ...['Basmati Rice Aged 5 kg', 'Sona Masoori Rice 10 kg', 'Idli Rice 2 kg', 'Whole Wheat Atta 5 kg'],
    ...['Multigrain Atta 1 kg', 'Besan 1 kg', 'Sooji Fine 500 g', 'Thick Poha 500 g'],
  ],
  'Dals and Pulses': [
    ...['Toor Dal 1 kg', 'Moong Dal Yellow 1 kg', 'Chana Dal 1 kg', 'Urad Dal Whole 500 g', 'Masoor Dal 1 kg'],
    ...['Kabuli Chana 1 kg', 'Rajma Chitra 500 g'],
  ],
  'Oils and Spices': [
    ...['Sunflower Oil 1 l', 'Groundnut Oil 1 l', 'Mustard Oil Kachi Ghani 1 l', 'Turmeric Powder 200 g'],
    ...['Red Chilli Powder 200 g', 'Garam Masala 100 g', 'Cumin Seeds 200 g', 'Black Pepper Whole 100 g'],
  ],
  Beverages: [
    ...['Assam Tea 500 g', 'Filter Coffee Powder 500 g', 'Instant Coffee 100 g', 'Tender Coconut Water 200 ml'],
    ...['Mango Drink 1.2 l', 'Mineral Water 1 l', 'Masala Chaas 200 ml'],
  ],
  'Snacks and Sweets': [
    ...['Aloo Bhujia 400 g', 'Banana Chips 200 g', 'Khakhra Methi 200 g', 'Roasted Makhana 80 g'],
    ...['Glucose Biscuits 800 g', 'Kaju Katli 250 g', 'Soan Papdi 500 g', 'Mixed Fruit Jam 500 g'],
  ],
  'Home Care': [
    ...['Dishwash Liquid Lemon 750 ml', 'Laundry Powder 2 kg', 'Floor Cleaner Pine 1 l', 'Garbage Bags Medium 30 pcs'],
    ...['Agarbatti Sandal 100 pcs', 'Kitchen Towel 2 rolls'],
  ],
  'Personal Care': [
    ...['Coconut Hair Oil 500 ml', 'Neem Soap 4 x 100 g', 'Herbal Toothpaste 200 g', 'Aloe Face Wash 100 ml'],
    ...['Sanitary Pads XL 30 pcs', 'Baby Diapers M 50 pcs'],
  ],
};

/** The product groups. */
export const productGroups = Object.keys(catalogue).map((name, index) => ({ id: index + 1, name }));

/** The products: groceries with one to three images each. */
export const products = Object.values(catalogue)
  .flat()
  .map((name, index) => ({ id: index + 1, name, images: imagesOf(name, index) }));

function imagesOf(name: string, index: number): string[] {
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return steps((index % 3) + 1).map((view) => `https://images.example.com/products/${slug}-${view + 1}.jpg`);
}
