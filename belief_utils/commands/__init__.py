"""The commands of ``belief``, a module each: ``add`` describes its options, ``run`` does the work."""
