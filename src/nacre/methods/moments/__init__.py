"""Class-wise moments of images, and a teacher that labels what is drawn from them."""
