"""A bridge between the papers: does a reported probability stay when it is questioned?"""
