"""The driver ``neuroglancer_precomputed``: volumes of Neuroglancer, as specs see them."""
